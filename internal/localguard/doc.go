// Package localguard guards ports of this machine against web pages. It serves pages to one
// person: the holder of the link that a command prints.
//
// [Listen] opens a port on a loopback address. The link has a random token, which becomes a
// cookie whose name has the port. Each request must be for a name of this port, must not
// come from a page of another origin, and must have the cookie. A change must also have
// the [Guard.CSRF] token. So a foreign page in the same browser can neither read nor change
// anything, whatever name it uses for this machine. All answers forbid scripts and styles
// that are not files of the page, frames, referrers and caches. Times, connections and
// bodies are bounded.
//
// [API] guards ports that programs call, such as those of the emulators: it refuses foreign
// hosts and web pages, and uses no cookie.
//
// Functions do not link this package.
package localguard
