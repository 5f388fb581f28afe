package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// writeTable writes docs/licences.md.
func writeTable(out io.Writer, modules []module) error {
	var b strings.Builder
	b.WriteString(`# Licences of linked modules

sqsafe has the licence Apache-2.0. These are the modules of others that ` + "`sqsafe`" + `, the worker and the
sample functions link, with their licences.
` + "`go run ./internal/licences`" + ` writes this page; a test compares it.
` + "`go run ./internal/licences -texts`" + ` prints the texts, as they are in each archive of a release.

| module | licence |
|---|---|
`)
	for _, m := range modules {
		fmt.Fprintf(&b, "| %s | %s |\n", m.path, strings.Join(m.licences, ", "))
	}
	b.WriteString("\nThe page of dead letters contains htmx (Zero-Clause BSD). Go itself is BSD-3-Clause.\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// writeTexts writes each licence and notice once, after the names of the modules that have it.
func writeTexts(out io.Writer, modules []module) error {
	owners := map[string][]string{}
	var order []string
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.texts)) {
			text := strings.TrimSpace(string(m.texts[name])) + "\n"
			if owners[text] == nil {
				order = append(order, text)
			}
			owners[text] = append(owners[text], m.path)
		}
	}
	for _, text := range order {
		names := strings.Join(slices.Compact(owners[text]), "\n")
		if _, err := fmt.Fprintf(out, "%s\n\n%s\n%s\n\n", names, text, strings.Repeat("=", 80)); err != nil {
			return err
		}
	}
	return nil
}
