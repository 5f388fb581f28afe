// Package release has tests of the workflows, of the configuration of releases, and of links and commands in the pages.
package release
