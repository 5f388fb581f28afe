// Package archive keeps dead letters in files, byte for byte, and sends them back into a
// dead-letter queue.
//
// A file has a line of JSON for each letter, with a checksum, between a first line that says
// from which queue they are and a last one that counts them. It is compressed if its name
// ends with ".gz". A letter is deleted from the queue only when its line is on disk.
package archive
