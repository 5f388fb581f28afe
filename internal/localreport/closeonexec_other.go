//go:build !unix

package localreport

import "os"

// closeOnExec does nothing: on Windows a program gets only the files that it is given.
func closeOnExec(*os.File) {}
