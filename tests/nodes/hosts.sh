#!/bin/sh
# Hosts on this machine: network namespaces on a bridge, each with its own name, processes and monotonic clock.
# To be started inside `unshare --net --mount --pid --fork --kill-child --mount-proc`, so that nothing of it is left.
#   hosts.sh bridge                          makes the bridge, on which this side is 10.99.0.254
#   hosts.sh host NUMBER AHEAD COMMAND...    runs COMMAND on host nNUMBER, 10.99.0.NUMBER, whose monotonic clock is ahead by AHEAD seconds
# A host ends when its last process has, and takes its name from its number. `vNUMBER` is its end of the link on this side.
set -eu
PATH=$PATH:/usr/sbin:/sbin
what=$1
shift
case $what in
  bridge)
    ip link set lo up
    ip link add bridge type bridge
    ip link set bridge up
    ip addr add 10.99.0.254/24 dev bridge
    ;;
  host)
    number=$1 ahead=$2
    shift 2
    export number
    unshare --net --uts --time --monotonic "$ahead" --pid --fork --kill-child --mount-proc sh -c '
      hostname "n$number"
      # Names of shared memory are made of host and PID, and both are those of any other test: ranks met in a segment of two programs.
      mount -t tmpfs shm /dev/shm
      until ip link set "h$number" up 2>/dev/null; do sleep 0.02; done
      ip link set lo up
      ip addr add "10.99.0.$number/24" dev "h$number"
      code=0
      "$@" || code=$?
      # Whoever outlives the program, as an agent does for a while, would be killed with the first process of the host.
      while grep -qs -e idlewave -e iw- /proc/[0-9]*/comm; do sleep 0.05; done
      exit $code' host "$@" &
    pid=$!
    ip link add "v$number" type veth peer name "h$number"
    ip link set "v$number" master bridge
    ip link set "v$number" up
    # The child is in its own network before it does anything.
    until [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.02; done
    ip link set "h$number" netns "$pid"
    wait "$pid"
    ;;
esac
