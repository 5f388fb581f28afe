package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is the subcommand that prints the version.
type Version struct{}

// Run prints one line.
func (Version) Run(streams Streams) error {
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintln(streams.Out, versionText(info))
	return err
}

// versionText formats the build info, which may be nil.
func versionText(info *debug.BuildInfo) string {
	version, settings := "unknown", map[string]string{}
	if info != nil {
		version = info.Main.Version
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	text := "sqsafe " + version
	if commit := settings["vcs.revision"]; commit != "" {
		text += ", commit " + commit
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		text += " of " + settings["vcs.time"]
	}
	return text + ", " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
}
