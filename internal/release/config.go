package release

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"
)

// Workflow is the part of a workflow file that has rules.
type Workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]Job    `yaml:"jobs"`
}

// Job is a job of a workflow.
type Job struct {
	// Timeout is in minutes; 0 means the default of GitHub, 360.
	Timeout int `yaml:"timeout-minutes"`
	Steps   []struct {
		Run string `yaml:"run"`
	} `yaml:"steps"`
}

// Configuration is .goreleaser.yaml. It has all keys that the file uses, so that a misspelt one is found without
// goreleaser, which takes minutes to compile.
type Configuration struct {
	Version int    `yaml:"version"`
	Project string `yaml:"project_name"`
	Before  struct {
		Hooks []string `yaml:"hooks"`
	} `yaml:"before"`
	Builds   []Build   `yaml:"builds"`
	Archives []Archive `yaml:"archives"`
	Checksum struct {
		Name string `yaml:"name_template"`
	} `yaml:"checksum"`
	SBOMs []struct {
		Artifacts string   `yaml:"artifacts"`
		IDs       []string `yaml:"ids"`
		Documents []string `yaml:"documents"`
		Command   string   `yaml:"cmd"`
		Args      []string `yaml:"args"`
	} `yaml:"sboms"`
	Packages  []Package `yaml:"nfpms"`
	Casks     []Cask    `yaml:"homebrew_casks"`
	Changelog struct {
		Disable bool `yaml:"disable"`
	} `yaml:"changelog"`
	Release struct {
		GitHub     Repository `yaml:"github"`
		Prerelease string     `yaml:"prerelease"`
		Footer     string     `yaml:"footer"`
	} `yaml:"release"`
}

// Build is a program that is released, or in an image.
type Build struct {
	ID        string   `yaml:"id"`
	Main      string   `yaml:"main"`
	Binary    string   `yaml:"binary"`
	Env       []string `yaml:"env"`
	Flags     []string `yaml:"flags"`
	LDFlags   []string `yaml:"ldflags"`
	Timestamp string   `yaml:"mod_timestamp"`
	Targets   []string `yaml:"targets"`
}

// Archive is a file with a program and what goes with it.
type Archive struct {
	ID        string   `yaml:"id"`
	IDs       []string `yaml:"ids"`
	Formats   []string `yaml:"formats"`
	Overrides []struct {
		System  string   `yaml:"goos"`
		Formats []string `yaml:"formats"`
	} `yaml:"format_overrides"`
	Name  string `yaml:"name_template"`
	Files []any  `yaml:"files"` // names, or maps with src and dst
}

// Package is a package of a distribution.
type Package struct {
	IDs         []string `yaml:"ids"`
	Formats     []string `yaml:"formats"`
	Vendor      string   `yaml:"vendor"`
	Homepage    string   `yaml:"homepage"`
	Maintainer  string   `yaml:"maintainer"`
	Description string   `yaml:"description"`
	License     string   `yaml:"license"`
	Section     string   `yaml:"section"`
	Contents    []struct {
		Source      string `yaml:"src"`
		Destination string `yaml:"dst"`
	} `yaml:"contents"`
}

// Cask is a file for Homebrew.
type Cask struct {
	IDs         []string   `yaml:"ids"`
	Homepage    string     `yaml:"homepage"`
	Description string     `yaml:"description"`
	SkipUpload  string     `yaml:"skip_upload"`
	Repository  Repository `yaml:"repository"`
	Hooks       struct {
		Post struct {
			Install string `yaml:"install"`
		} `yaml:"post"`
	} `yaml:"hooks"`
}

// Repository is one at GitHub.
type Repository struct {
	Owner string `yaml:"owner"`
	Name  string `yaml:"name"`
	Token string `yaml:"token"`
}

// Images is .ko.yaml.
type Images struct {
	Builds []Build `yaml:"builds"`
}

// Read decodes a YAML file below root; strict refuses keys that T does not have. The error names the file.
func Read[T any](root, name string, strict bool) (T, error) {
	var value T
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return value, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(strict)
	if err := decoder.Decode(&value); err != nil {
		return value, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}
