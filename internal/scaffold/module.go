package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
)

// modulePath is that of sqsafe.
const modulePath = "github.com/sqsafe/sqsafe"

// Released returns the module of a program that was installed by its version.
// The second result is false for one that was built in a checkout.
func Released(info *debug.BuildInfo) (Module, bool) {
	if info == nil || info.Main.Path != modulePath || info.Main.Sum == "" || info.Main.Replace != nil {
		return Module{}, false
	}
	return Module{Version: info.Main.Version}, true
}

// Checkout returns the module of the checkout in a folder. It needs no network
// later: go.mod and go.sum list what sqsafe itself needs.
func Checkout(folder string) (Module, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return Module{}, err
	}
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil || !isOurs(mod) {
		return Module{}, fmt.Errorf("%s is no checkout of sqsafe: name the folder with its go.mod", folder)
	}
	sums, err := os.ReadFile(filepath.Join(folder, "go.sum"))
	if err != nil {
		return Module{}, err
	}
	return Module{
		Version:   "v0.0.0-00010101000000-000000000000", // what the go command writes for a replaced module
		GoVersion: goVersion(mod),
		Checkout:  folder, Requires: requires(mod), Sums: sums,
	}, nil
}

// FindCheckout returns the folder of the checkout that has one of these files or
// folders in it, or an empty string.
func FindCheckout(places ...string) string {
	for _, place := range places {
		if place == "" {
			continue
		}
		for folder := place; ; folder = filepath.Dir(folder) {
			if mod, err := os.ReadFile(filepath.Join(folder, "go.mod")); err == nil && isOurs(mod) {
				return folder
			}
			if folder == filepath.Dir(folder) {
				break
			}
		}
	}
	return ""
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+` + regexp.QuoteMeta(modulePath) + `\s*$`)

func isOurs(mod []byte) bool { return moduleLine.Match(mod) }

var goLine = regexp.MustCompile(`(?m)^go\s+(\S+)`)

// goVersion is the version of Go in a go.mod; empty for none.
func goVersion(mod []byte) string {
	if found := goLine.FindSubmatch(mod); found != nil {
		return string(found[1])
	}
	return ""
}

var requireLine = regexp.MustCompile(`(?m)^\s+(\S+/\S+)\s+(v\S+)(\s*//.*)?$`)

// requires are the modules in the require blocks of a go.mod.
func requires(mod []byte) []string {
	var list []string
	for _, found := range requireLine.FindAllSubmatch(mod, -1) {
		list = append(list, string(found[1])+" "+string(found[2]))
	}
	return list
}
