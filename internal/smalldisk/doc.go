// Package smalldisk gives tests on Linux a disk that can fill up or become read-only.
package smalldisk
