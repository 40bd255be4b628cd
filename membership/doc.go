// Package membership says who is in the cluster: memberlist's gossip, and what
// other detectors report, merged into one stream of views.
//
// # What is not promised
//
// A view is a hint. It may be late, incomplete or wrong, and two nodes may hold
// different ones at the same time: elections must survive that, and nothing
// that has to be safe may rest on a view. Gossip counts a process as alive while
// any member can reach it; it notices a death in about one second to eight,
// depending on the [Profile]. It is not authenticated: whoever can send packets
// to the gossip port can disturb the membership, though not end the process.
//
// # How evidence is merged
//
// Evidence is about one process, that is, one (id, session). What the links
// report about a session that gossip does not list now changes nothing, so a
// new process is never blamed for its former life.
//
//	gossip lists it    the links say             in the view   evidence
//	-----------------  ------------------------  ------------  ---------------------------
//	yes                nothing                   yes           joined 5
//	yes                link-closed, link-reset   yes           none: it may be a hiccup
//	yes                dial-refused              no            dial-refused 5
//	yes                other-session             no            other-session 5
//	yes                unreachable               no            unreachable 5
//	yes                heartbeat-missed          no            heartbeat-missed 5
//	yes                indirect-unreachable      no            indirect-unreachable 5
//	yes                indirect-alive            yes           none: others hear it
//	yes                closed, then refused      no            link-closed 5, dial-refused 5
//	yes                reset, then missed        no            link-reset 5, heartbeat-missed 5
//	yes                reset, nobody hears it    no            link-reset 5, indirect-unreachable 5
//	yes                indirect-alive, missed    no            indirect-alive 5, heartbeat-missed 5
//	yes                indirect-alive after one  no            none: this node still does not
//	                   that left the view
//	yes                link-up after such a mark yes           link-up 5
//	yes                heartbeat-back after one  yes           heartbeat-back 5
//	yes, new session   anything about the old    yes           new-session 5
//	yes, new attribute nothing                   yes           attr 5
//	yes, stands no more nothing                  yes           ineligible 5
//	yes, stands again  nothing                   yes           eligible 5
//	yes, new address   nothing                   yes           moved 5
//	another too        first one proven gone     the other     new-session 5
//	no more            anything                  no            gossip-dead 5
//	yes, said goodbye  anything                  no            left 5
//
// A mark lasts until link-up or heartbeat-back for the same session, a new
// session, or the end of the gossip entry. So whoever reports a process as
// unreachable, or its heartbeat as missed, goes on asking it while
// [Group.Listed] names it.
//
// What others say about a process proves nothing by itself. That they hear it makes
// the links bear its silence for longer, so that one bad path elects nobody; that
// they do not, when this node's own link ended in a way that is no proof and no dial
// since was answered, makes the process unreachable at once instead of after
// seconds. Not even their proof of its death is taken over: every node dials itself.
//
// A dial that was refused after the links had ended, and another session, prove
// that a process is gone. A process that is unreachable or whose heartbeat is
// missed may live, and then others may still count it: this node leaves it out
// because it could not elect it, nor follow it.
//
// # How a cut cluster comes together again
//
// memberlist alone never heals a full partition. Here, every rejoin interval,
// each node asks all seeds and every process it ever met that it does not list
// now, and every process that does not list it. A cluster in which everybody
// lists everybody causes no such traffic.
//
// # One id, one process
//
// Two processes with one id cannot both be members. The newcomer among them
// ends with [ErrIDTaken]: the one that no peer lists, or else the one that
// started later. Before it does, it asks at the other's election address: when
// nobody answers there as this id, the entry is a former life, its own or that of a
// moved container, and the newcomer goes on joining until the peers give the
// entry up.
package membership
