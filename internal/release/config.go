package release

import (
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

// Configuration is the part of .goreleaser.yaml that has rules.
type Configuration struct {
	Builds []Build `yaml:"builds"`
}

// Images is .ko.yaml.
type Images struct {
	Builds []Build `yaml:"builds"`
}

// Build is a program that is released.
type Build struct {
	ID      string   `yaml:"id"`
	Main    string   `yaml:"main"`
	Targets []string `yaml:"targets"`
	Env     []string `yaml:"env"`
	Flags   []string `yaml:"flags"`
	LDFlags []string `yaml:"ldflags"`
}

// Read decodes a YAML file below root. The error names the file.
func Read[T any](root, name string) (T, error) {
	var value T
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return value, err
	}
	if err := yaml.Unmarshal(text, &value); err != nil {
		return value, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}
