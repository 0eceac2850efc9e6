// Preloaded into the service: kills it at the N-th boundary, before or after it writes or syncs a file, talks to PostgreSQL or
// sends a request that contains one of the marks.
//
// CRASH_ARMED  a file with N; without the file nothing is counted. The N of 0 only counts.
// CRASH_LOG    a file that gets one line for each boundary
// CRASH_PORT   the port of PostgreSQL, or 0
// CRASH_MARKS  words, separated by commas
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long reached;

static void boundary(const char *side, const char *what) {
  char text[80] = {0};
  int armed = open(getenv("CRASH_ARMED"), O_RDONLY);
  if (armed < 0) return;
  ssize_t length = read(armed, text, sizeof text - 1);
  close(armed);
  long number = atomic_fetch_add(&reached, 1) + 1, last = length > 0 ? atol(text) : 0;
  int log = open(getenv("CRASH_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  length = snprintf(text, sizeof text, "%ld %s %s\n", number, side, what);
  if (log >= 0) {
    // Not write(), which is replaced below.
    struct iovec line = {text, (size_t)length};
    if (pwritev(log, &line, 1, 0) < 0) perror("CRASH_LOG");
    close(log);
  }
  if (number == last) {
    kill(getpid(), SIGKILL);
    pause();
  }
}

static const char *marked(const void *bytes, size_t length) {
  static _Thread_local char mark[64];
  for (const char *at = getenv("CRASH_MARKS"); at && *at;) {
    size_t size = strcspn(at, ",");
    if (size < sizeof mark && memmem(bytes, length, at, size)) {
      memcpy(mark, at, size);
      mark[size] = 0;
      return mark;
    }
    at += size + (at[size] == ',');
  }
  return NULL;
}

// What is sent here, if a crash before or after it matters.
static const char *sent(int socket, const struct iovec *parts, int count) {
  struct sockaddr_in6 peer;
  socklen_t length = sizeof peer;
  if (getpeername(socket, (struct sockaddr *)&peer, &length) < 0) return NULL;
  if (peer.sin6_family != AF_INET && peer.sin6_family != AF_INET6) return NULL;
  const char *port = getenv("CRASH_PORT");
  if (port && ntohs(peer.sin6_port) == atoi(port)) return "PostgreSQL";
  for (int at = 0; at < count; at++) {
    const char *mark = marked(parts[at].iov_base, parts[at].iov_len);
    if (mark) return mark;
  }
  return NULL;
}

#define AROUND(what, call)                   \
  do {                                       \
    const char *name = (what);               \
    if (name) boundary("before", name);      \
    ssize_t result = (call);                 \
    if (name) boundary("after", name);       \
    return result;                           \
  } while (0)

// Whether something was written since the last sync: of each commit the first write counts.
static atomic_int unsynced;

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
  AROUND(atomic_exchange(&unsynced, 1) ? NULL : "write", REAL(pwrite64)(file, bytes, length, at));
}

static const char *synced(void) {
  atomic_store(&unsynced, 0);
  return "sync";
}

int fdatasync(int file) { AROUND(synced(), REAL(fdatasync)(file)); }
int fsync(int file) { AROUND(synced(), REAL(fsync)(file)); }

ssize_t send(int socket, const void *bytes, size_t length, int flags) {
  struct iovec part = {(void *)bytes, length};
  AROUND(sent(socket, &part, 1), REAL(send)(socket, bytes, length, flags));
}

ssize_t write(int file, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  AROUND(sent(file, &part, 1), REAL(write)(file, bytes, length));
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  AROUND(sent(file, parts, count), REAL(writev)(file, parts, count));
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
  AROUND(sent(socket, message->msg_iov, (int)message->msg_iovlen), REAL(sendmsg)(socket, message, flags));
}
