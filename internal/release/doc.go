// Package release has tests of what surrounds the code: the workflows, and the configuration of releases.
package release
