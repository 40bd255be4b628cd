package address

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Without a given hostname, a container has its own id as its hostname. The id may end in digits
// that mean nothing; the number of a replica is in the container's name. Docker's DNS answers a
// question for the name of the container's address with that name, then a dot and the name of the
// network.
var (
	hex         = regexp.MustCompile(`^[0-9a-f]+$`)
	replicaName = regexp.MustCompile(`^([a-z0-9_-]+)[-_]([1-9][0-9]*)(\.|$)`)
)

// oneOff matches the names of containers of `docker-compose run` without the random number at their
// end.
var oneOff = regexp.MustCompile(`[-_]run$`)

// lookupTime is how long the DNS may take to answer.
const lookupTime = 2 * time.Second

// IsContainer reports whether a hostname is the id of a container.
func IsContainer(hostname string) bool { return len(hostname) == 12 && hex.MatchString(hostname) }

// Replica returns the number at the end of this container's name, for example 3 for
// project_node_3.network, and the name. The error lists the addresses for which the DNS has no
// name with a number.
func (h Host) Replica() (number, name string, err error) {
	addrs, err := h.Addrs()
	if err != nil {
		return "", "", fmt.Errorf("list this machine's addresses: %w", err)
	}
	var asked []string
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() {
			continue
		}
		asked = append(asked, prefix.Addr().String())
		for _, name := range h.Names(prefix.Addr()) {
			if parts := replicaName.FindStringSubmatch(name); parts != nil && !oneOff.MatchString(parts[1]) {
				return parts[2], name, nil
			}
		}
	}
	return "", "", fmt.Errorf("the DNS has no name with a number at its end for the container's addresses (%s)",
		strings.Join(asked, ", "))
}

// namesInDNS asks the DNS for the names of an address. It returns none if the DNS does not answer.
// It does not use Go's resolver, which would answer from /etc/hosts, where Docker has the
// container's id.
func namesInDNS(ip netip.Addr) (names []string) {
	servers, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil {
		return nil
	}
	arpa, err := dns.ReverseAddr(ip.String())
	if err != nil {
		return nil
	}
	client := dns.Client{Timeout: lookupTime}
	for _, server := range servers.Servers {
		question := new(dns.Msg).SetQuestion(arpa, dns.TypePTR)
		answer, _, err := client.Exchange(question, net.JoinHostPort(server, servers.Port))
		if err != nil {
			continue
		}
		for _, record := range answer.Answer {
			if ptr, ok := record.(*dns.PTR); ok {
				names = append(names, strings.TrimSuffix(ptr.Ptr, "."))
			}
		}
	}
	return names
}
