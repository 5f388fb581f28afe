// Package compatibility has tests that let this version read what each released version wrote: items of the ledger,
// dead letters and archives. testdata has a folder for each version. Before a release, make fixtures VERSION=v1.2.3
// writes its folder, which is never changed again.
package compatibility
