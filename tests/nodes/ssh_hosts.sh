#!/bin/sh
# Hosts n1 and n2 of hosts.sh, where ssh leads from one to the other without a question, as it does on a cluster: an OpenSSH client and a
# server of its own on each. PLACE is a folder for their keys, which is also the home of whoever logs in.
# To be started inside `unshare --net --mount --pid --fork --kill-child --mount-proc`, so that nothing of it is left.
#   ssh_hosts.sh COMMAND...     runs COMMAND on n1, and ends with its code, or with 99 where something of idlewave outlived it
set -eu
PATH=$PATH:/usr/sbin:/sbin
hosts=$(dirname "$0")/hosts.sh
home=$PLACE/home

mkdir -p "$home/.ssh"
chmod 700 "$home" "$home/.ssh"
dropbearkey -t ed25519 -f "$PLACE/server" >/dev/null 2>&1
ssh-keygen -q -t ed25519 -N '' -f "$home/.ssh/id_ed25519"
cp "$home/.ssh/id_ed25519.pub" "$home/.ssh/authorized_keys"
public=$(dropbearkey -y -f "$PLACE/server" | grep '^ssh-' | cut -d ' ' -f 1,2)
printf 'n1,10.99.0.1 %s\nn2,10.99.0.2 %s\n' "$public" "$public" >"$home/.ssh/known_hosts"
chmod 600 "$home/.ssh"/*
awk -F : -v OFS=: -v me="$(id -u)" -v home="$home" '$3 == me { $6 = home } { print }' /etc/passwd >"$PLACE/passwd"
printf '127.0.0.1 localhost\n10.99.0.1 n1\n10.99.0.2 n2\n' >"$PLACE/hosts"
mount --bind "$PLACE/passwd" /etc/passwd
mount --bind "$PLACE/hosts" /etc/hosts

sh "$hosts" bridge
for number in 1 2; do
  mkfifo "$PLACE/end$number"
  # It stands until the end of the test, whoever else has come and gone on it.
  sh "$hosts" host $number 0 sh -c '
    mount -t sysfs sysfs /sys  # which names the networks of whoever mounted it
    dropbear -E -r "$PLACE/server" -P "$PLACE/server$1" 2>"$PLACE/log$1"
    read -r end <"$PLACE/end$1"' host $number &
  for moment in $(seq 500); do
    test ! -s "$PLACE/server$number" || break
    sleep 0.02
  done
done
code=0
n1=$(pgrep -f "$PLACE/server1")
nsenter --target "$n1" --net --uts --pid --time --mount --wd=. -- "$@" || code=$?
# Agents that were reached by a port end by themselves, moments later.
for moment in $(seq 100); do
  left=$(grep -ls -e '^idlewave' -e '^iw-' /proc/[0-9]*/comm || true)
  test -n "$left" || exit $code
  sleep 0.1
done
echo "left behind: $left" >&2
exit 99
