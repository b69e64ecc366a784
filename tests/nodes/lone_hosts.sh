#!/bin/sh
# Hosts on this machine that no network joins: namespaces, each with its own name and processes. What leads from one to another is a
# command, as ssh would be. HOSTS is a folder for what they know of each other.
# To be started inside `unshare --net --uts --mount --pid --fork --kill-child --mount-proc`, so that nothing of it is left.
#   lone_hosts.sh up COUNT COMMAND...     makes hosts n2 to nCOUNT, and runs COMMAND on n1, which is this one
#   lone_hosts.sh on HOST COMMAND...      runs COMMAND on one of them, with our streams
#   lone_hosts.sh mpirun -H n1,n2 [-x NAME]... COMMAND...   a rank on each, by a program `on` in PATH; rank and number of ranks come last
set -eu
PATH=$PATH:/usr/sbin:/sbin
what=$1
shift
case $what in
  up)
    count=$1
    shift
    hostname n1
    for number in $(seq 2 "$count"); do
      rm -f "$HOSTS/up$number"
      unshare --net --uts --pid --fork --kill-child --mount-proc \
        sh -c "hostname n$number; : > '$HOSTS/up$number'; while :; do sleep 1; done" &
      until [ -e "$HOSTS/up$number" ]; do sleep 0.02; done
      tr -d ' ' < "/proc/$!/task/$!/children" > "$HOSTS/n$number"
    done
    code=0
    "$@" || code=$?
    # Of a session that is over nothing may be left, on whichever host.
    left=$(grep -alsz -e '^--agents$' /proc/[0-9]*/cmdline || true)
    test -z "$left" || { echo "left behind: $left" >&2 && exit 99; }
    exit "$code"
    ;;
  on)
    host=$1
    shift
    exec nsenter --target "$(cat "$HOSTS/$host")" --net --uts --pid --mount -- "$@"
    ;;
  mpirun)
    while :; do
      case $1 in
        -x) shift 2 ;;
        -H) hosts=$(echo "$2" | tr , ' '); shift 2 ;;
        *) break ;;
      esac
    done
    ranks=$(echo "$hosts" | wc -w) rank=0 started=
    exec 3<&0
    for host in $hosts; do
      if [ "$host" = "$(hostname)" ]; then "$@" "$rank" "$ranks" <&3 & else on "$host" "$@" "$rank" "$ranks" </dev/null & fi
      started="$started $!" rank=$((rank + 1))
    done
    code=0
    for pid in $started; do wait "$pid" || code=$?; done
    exit "$code"
    ;;
esac
