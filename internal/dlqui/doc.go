// Package dlqui shows dead letters in pages: queues, groups, letters, what a replay would
// do, and what it does. It is a face of [deadletters] and the packages below it, which
// know what is to be known of dead letters.
//
// The pages are HTML from templates and work as plain forms. With scripts, the file of
// htmx renews what changes by itself. A [Pages] is a handler without a guard of its own:
// it stands behind [localguard.Guard].
//
// A page that shows letters reads the queue, which hides them from others for a moment.
// The pages of one process do so one after another, and use what was read for
// [lookFresh]. While a run of this process has the letters, the pages show what was read
// before it.
package dlqui
