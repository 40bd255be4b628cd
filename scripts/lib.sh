# shellcheck shell=bash disable=SC2034 # the scripts use the variables
# What the scripts share. They find containers by the labels that compose gives
# them, because docker-compose 1 and 2 join names differently. Source this; it
# runs on bash 3.2 (macOS) too.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$root/scripts

# The project's name is compose's own default, the directory's, so that a plain
# `docker-compose up` and the scripts speak of the same containers.
if [ -z "${COMPOSE_PROJECT_NAME:-}" ]; then
	COMPOSE_PROJECT_NAME=$(basename "$root" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-')
fi
export COMPOSE_PROJECT_NAME
project=$COMPOSE_PROJECT_NAME

# Compose reads .env, too.
env_file=$root/.env

# On this machine: what asks nodes, and with which credentials. Each may be missing.
ringleader=$root/bin/ringleader
operator=$root/bin/operator

# remembered prints a variable's value as .env has it: remembered NAME.
remembered() {
	if [ -f "$env_file" ]; then
		sed -n "s/^$1='\{0,1\}\([^']*\)'\{0,1\}\$/\1/p" "$env_file"
	fi
}

# What compose always wants, even of `down` before the first `up`.
if [ -z "${RINGLEADER_IMAGE:-}" ]; then
	RINGLEADER_IMAGE=$(remembered RINGLEADER_IMAGE)
fi
export RINGLEADER_IMAGE=${RINGLEADER_IMAGE:-ringleader:local}

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# misuse is for a wrong command line.
misuse() {
	echo "${0##*/}: $*; see scripts/${0##*/} --help" >&2
	exit 2
}

# help_first prints the comment at the head of the script, its help, and ends when
# the arguments ask for it.
help_first() {
	local arg
	for arg in "$@"; do
		case $arg in
		-h | --help)
			sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
			exit
			;;
		esac
	done
}

# need_number ends unless a number that shell arithmetic can take, which reads a
# leading 0 as octal, follows the option: need_number OPTION [NUMBER]...
need_number() {
	[ $# -gt 1 ] || misuse "$1 needs a number after it"
	case $2 in
	'' | *[!0-9]* | 0?* | ??????????*)
		misuse "$1 needs a whole number from 0 to 999999999, not \"$2\""
		;;
	esac
}

# compose runs $COMPOSE, or whichever compose there is.
compose() {
	if [ -z "${COMPOSE:-}" ]; then
		if docker compose version >/dev/null 2>&1; then
			COMPOSE='docker compose'
		elif command -v docker-compose >/dev/null; then
			COMPOSE=docker-compose
		else
			die 'neither "docker compose" nor "docker-compose" is here: install one, or set COMPOSE'
		fi
	fi
	# shellcheck disable=SC2086 # a command and its arguments
	(cd "$root" && $COMPOSE "$@")
}

# list prints each node's name, and what a format of `docker ps` says of it: list FORMAT.
list() {
	docker ps --all --filter "label=com.docker.compose.project=$project" \
		--filter label=com.docker.compose.service=node --filter label=com.docker.compose.oneoff=False \
		--format "n{{.Label \"com.docker.compose.container-number\"}} $1" | sort -V
}

# containers prints "node id state network port" for each container of the cluster. A node on no
# network is on one of its own, none-NODE; and on the main one whatever others there are. The port
# is that of its HTTP API on this machine, "-" for none.
containers() {
	list '{{.ID}} {{.State}} {{or .Networks "none"}} {{.Ports}}' | awk -v main="${project}_cluster" '
		$4 == "none" { $4 = "none-" $1 }
		index("," $4 ",", "," main ",") { $4 = main }
		{ print $1, $2, $3, $4, match($0, /:[0-9]+->7948/) ? substr($0, RSTART + 1, RLENGTH - 7) : "-" }'
}

# nodes prints the names of all nodes.
nodes() { containers | cut -d' ' -f1; }

# cluster is containers, of which there must be one, running or not.
cluster() {
	local there
	there=$(containers) || exit
	[ -n "$there" ] || die "the cluster is not up: project \"$project\" has no containers; run make up"
	echo "$there"
}

# need_cluster ends unless there are containers, running or not.
need_cluster() { cluster >/dev/null; }

# node_name turns 3 into n3. In $(node_name) misuse ends the subshell only. Assign
# that to a plain variable, alone on its line, and `set -e` ends the script too;
# but within another $( ) it is off: there add `|| exit`.
node_name() {
	case ${1#n} in
	'' | *[!0-9]* | 0*) misuse "a node is a number or its name, as 3 or n3, not \"$1\"" ;;
	esac
	echo "n${1#n}"
}

# container prints the id of a node's container.
container() {
	local name there id
	name=$(node_name "$1") || exit
	there=$(cluster) || exit
	id=$(awk -v name="$name" '$1 == name { print $2 }' <<<"$there")
	[ -n "$id" ] || die "there is no $name in project \"$project\", only $(cut -d' ' -f1 <<<"$there" | paste -s -d ' ' -)"
	echo "$id"
}

# survey prints "node state network role leader term" for each node, as the node itself sees it; "-"
# for what it does not say.
survey() {
	local dir name id state network port
	dir=$(mktemp -d)
	while read -r name id state network port; do
		{
			echo "$name $state $network"
			[ "$state" != running ] || ask "$id" "$port"
		} >"$dir/$name" &
	done < <(containers)
	wait
	# What is nested in the answer comes later.
	find "$dir" -type f | sort -V | xargs awk '
		function field(key) {
			return match(answer, "\"" key "\":\"?[0-9a-z-]+") ? substr(answer, RSTART, RLENGTH) : "-"
		}
		function tell() {
			answer = field("role") " " field("leader") " " field("term")
			gsub(/"[a-z]+":"?/, "", answer)
			print node, answer
		}
		FNR == 1 { if (node) tell(); node = $0; answer = ""; next }
		{ answer = answer $0 }
		END { if (node) tell() }'
	rm -r "$dir"
}

# fetch_operator copies the credentials of who asks nodes out of a container, to bin/operator, for the user of the
# script alone. With none there it copies nothing.
fetch_operator() {
	local id
	id=$(containers | awk 'NR == 1 { print $2 }')
	[ -n "$id" ] || return 0
	rm -rf "$operator"
	mkdir -p "${operator%/*}"
	(umask 077 && docker cp "$id:/credentials/operator" "$operator" >/dev/null)
	chmod 700 "$operator"
	chmod 600 "$operator"/*
}

# ask prints the status of a node that runs, if it answers: ask CONTAINER PORT.
ask() {
	local answer=''
	if [ "$2" != - ] && [ -x "$ringleader" ] && [ -r "$operator/api.token" ]; then
		answer=$("$ringleader" status -o json --addr "127.0.0.1:$2" --credentials "$operator" 2>/dev/null </dev/null) || true
	fi
	case $answer in
	*'"role":'*) echo "$answer" ;;
	# Nothing on this machine reaches a node that is cut off, but the engine. Its way takes several times as long.
	# The exit code tells of a leader; the answer does too, and more.
	*) docker exec "$1" ringleader status -o json 2>/dev/null </dev/null || true ;;
	esac
}

# one_leader waits, SECONDS at most, until the running nodes agree, and prints the
# leader's name; otherwise it prints what they say and fails: one_leader SECONDS.
one_leader() {
	local answer
	if ! answer=$("$here/status" --wait "$1"); then
		echo "$answer" >&2
		return 1
	fi
	answer=${answer##*one leader: }
	echo "n${answer%%,*}"
}

# network prints the name of the network that joins all nodes.
network() {
	docker network ls --filter "label=com.docker.compose.project=$project" \
		--filter label=com.docker.compose.network=cluster --format '{{.Name}}'
}

# cut_label marks the networks of nodes that were cut off.
cut_label="ringleader.cut=$project"

# placed prints "node network,alias,alias... network,alias..." for each node, or for one: the networks that
# it is on, and what it is called there. placed [CONTAINER].
placed() {
	# shellcheck disable=SC2046 # one word an id
	docker inspect --format '{{printf "n%s" (index .Config.Labels "com.docker.compose.container-number")}}{{range
		$name, $on := .NetworkSettings.Networks}} {{$name}}{{range $on.Aliases}},{{.}}{{end}}{{end}}' \
		$(if [ $# -gt 0 ]; then echo "$1"; else containers | cut -d' ' -f2; fi)
}

# leave_all takes a node off all networks: leave_all NODE.
leave_all() {
	local id on
	id=$(container "$1")
	for on in $(placed "$id" | cut -s -d' ' -f2-); do
		docker network disconnect "${on%%,*}" "$id"
	done
}

# join puts a node on a network, under the name by which the nodes find one another, which
# `docker network connect` by hand does not give it: join NODE NETWORK.
join() {
	local id
	id=$(container "$1")
	docker network connect --alias node "$2" "$id"
}

# voters_of prints who votes: voters_of NODES FLAGS.
voters_of() {
	local given
	given=$(sed -n 's/.*--voters[ =]\([^ ]*\).*/\1/p' <<<"$2")
	echo "${given:-1-$1}"
}

# voters prints who votes in the cluster whose data there is; nothing where there is none.
voters() {
	local volume
	volume=$(docker volume ls --quiet --filter "label=com.docker.compose.project=$project")
	if [ -n "$volume" ] && [ -f "$env_file" ]; then
		voters_of "$(remembered NODES)" "$(remembered FLAGS)"
	fi
}
