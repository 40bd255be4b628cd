// Package membership tells which processes are in the cluster. It merges memberlist's gossip
// and the reports of other detectors into one stream of views.
//
// # What the package does not promise
//
// A view is a hint. It may be late, incomplete or wrong, and two nodes may have different
// views at the same time. Elections must survive that, and safety must not rest on a view.
// Gossip counts a process as alive while any member can reach it. It notices a death in
// about one second to eight, depending on the [Profile]. Without
// Config.Keys gossip is not authenticated: somebody who can send packets to the gossip port
// can disturb the membership, though not end the process. With Keys it takes one of the keys
// for that; who has none can drop packets, delay them, and send again what was sent before.
//
// # How evidence is merged
//
// Evidence is about one process, that is, one (id, incarnation). A report of the links about
// an incarnation that gossip does not list now changes nothing. So a new process is never
// blamed for the former process of its node.
//
//	gossip lists it    the links say             in the view   evidence
//	-----------------  ------------------------  ------------  ---------------------------
//	yes                nothing                   yes           joined 5
//	yes                link-closed, link-reset   yes           none: it may be a hiccup
//	yes                dial-refused              no            dial-refused 5
//	yes                other-incarnation             no            other-incarnation 5
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
//	yes, new incarnation   anything about the old    yes           new-incarnation 5
//	yes, new attribute nothing                   yes           attr 5
//	yes, stands no more nothing                  yes           ineligible 5
//	yes, stands again  nothing                   yes           eligible 5
//	yes, new address   nothing                   yes           moved 5
//	another too        first one proven gone     the other     new-incarnation 5
//	no more            anything                  no            gossip-dead 5
//	a later stranger   no link was ever up       no            gossip-dead 5
//	yes, said goodbye  anything                  no            left 5
//
// A process that left the view stays out until link-up or heartbeat-back for the same
// incarnation, a new incarnation, or the end of the gossip entry. So a detector that reports
// a process as unreachable, or its heartbeat as missed, has to go on asking it while
// [Group.Listed] names it.
//
// What other nodes say about a process proves nothing by itself. If the other nodes hear it, this node allows
// a longer silence, so that one bad path causes no election. If they do not hear it, and this node's own link
// ended in a way that is no proof, and no dial since then was answered, the process is unreachable at once
// instead of after seconds. A node does not take over the others' proof of a death: it dials itself.
//
// A dial that was refused after the links had ended, and another incarnation, prove that a process is gone. A
// process that is unreachable or whose heartbeat is missed may live, and then others may still count it as
// alive. This node leaves the process out of its view, because this node could neither elect nor follow it.
//
// # What links prove
//
// With Config.LinksProve, a link is with the node that it names for certain, and whoever can lie in gossip cannot
// lie on links. Then gossip only tells whom to dial, and what links say stands above it:
//
//	gossip says                    the links              in the view
//	-----------------------------  ---------------------  -----------------------------------------
//	a process is there             no link was ever up    no: it is dialled
//	                               up, or it dialled      yes, as it describes itself on its link
//	it ended                       one is up              yes: it is asked for a sign of life
//	                               up, and it hangs       no, until it gives a sign of life
//	                               all ended, and the     no
//	                               dial proves something,
//	                               or two rejoin rounds
//	                               ago
//	it said goodbye                one is up              yes
//	                               all ended since        no, unless a link comes up again
//	another process of its id      one is up              the linked one, until the other is proven
//	                                                      and the linked one hangs or ended
//	another description of it      one is up              as it describes itself
//	nothing                        it dialled             yes
//	a notice                       anything               what the links told last counts
//
// A process with a link, in either direction, stays listed whatever gossip says, also while it hangs and is in no view.
// So no node ends its own link for a lie: the other side would see a reset, and take it for trouble.
//
// Each process tells its description and the cluster's notice on its links: see Config.OnNews. So who has a key of
// gossip and no certificate can keep a process whose links ended out of the gossip of others, and costs them dials,
// at most to 64 strangers; it changes no view otherwise.
//
// # Made-up members
//
// Somebody who can send packets can make members up. So a process that no link has reached yet is a stranger,
// and a node lists at most 64 strangers at a time. All other places are for ids that a link once reached, and
// for those that are expected: the voters. A stranger that no link reaches for ten seconds makes room for the
// next. One that finds no place is asked at its election address whether it exists, when its turn comes. So a
// flood of made-up members does not keep a node of the cluster from coming back; it may keep a new id out
// while it lasts.
//
// # How a cut cluster comes together again
//
// memberlist alone never heals a full partition. So in every rejoin interval each node calls
// all seeds, every process that it ever met and does not list now, and every process that
// does not list it. When all nodes list each other there is no such traffic.
//
// # One id, one process
//
// Two processes with one id cannot both be members. The newcomer ends with [ErrIDTaken]. The newcomer is the
// process that no peer lists, or else the one that started later. Before it ends, it asks at the other's
// election address, twice a second apart. If that very process does not answer both times, the other is a former
// process of this node, or made up, and the newcomer goes on joining until the peers list the other no more.
package membership
