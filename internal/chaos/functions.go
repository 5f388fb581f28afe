//go:build unix

package main

import (
	_ "embed"
	"fmt"
	"os"
	"text/template"
)

//go:embed stack.yaml.tmpl
var templateText string

// writeTemplate writes the SAM template of the stack.
func writeTemplate(path, code, provider string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	all := map[string]any{
		"Code": code, "Provider": provider, "Table": table, "Receives": receives,
		"Timeout": int(timeout.Seconds()), "Visibility": int(visibility.Seconds()),
	}
	var some []map[string]any
	for _, q := range queues {
		some = append(some, map[string]any{
			"ID": q.id, "Name": q.name(), "Dead": q.dead(), "FIFO": q.fifo, "Function": q.function,
			"Invocations": max(q.invocations, 1),
		})
	}
	all["Queues"] = some
	if err := template.Must(template.New("").Parse(templateText)).Execute(file, all); err != nil {
		return fmt.Errorf("writing the template: %w", err)
	}
	return file.Close()
}
