/** The user of the service, and where its files are. */
export const SERVICE = {
  user: 'payhook',
  unit: '/etc/systemd/system/payhook.service',
  settings: '/etc/payhook.env',
  /** The commands for root: before /usr/local/bin in its PATH, where npm links the program itself. */
  script: '/usr/local/sbin/payhook',
  state: '/var/lib/payhook',
} as const;

/** A program as systemd and the script start it. */
export interface Program {
  /** Absolute paths of Node and of the program's main file. */
  readonly node: string;
  readonly main: string;
}

/** The settings of a new service. */
export const NEW_SETTINGS = `# Settings of Payhook, one NAME=value per line: payhook config lists them with their meaning.
# After a change: payhook doctor && systemctl restart payhook
DATA_DIR=${SERVICE.state}/data
#BASE_URL=https://pay.example.com
#TRUSTED_PROXIES=127.0.0.1/32
#DATABASE_URL=postgres://payhook:password@db.example.com/payhook?sslmode=verify-full
#SECRET_KEY_FILE=/etc/payhook.key
`;

/** The first lines of the script, by which another file of this name is told from it. */
export const SCRIPT_HEAD = '#!/bin/sh\n# Written by payhook service install.';

/**
 * A script that runs commands as the user of the service and with its settings. Those that take no settings run as whoever
 * calls them: `service` needs root.
 */
export function scriptOf({ node, main }: Program): string {
  const words = [node, main].map(quotedForShell).join(' ');
  return `${SCRIPT_HEAD}
case "$1" in service | completion) exec ${words} "$@" ;; esac
exec runuser -u ${SERVICE.user} -- ${words} --env-file ${SERVICE.settings} "$@"
`;
}

const quotedForShell = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** A word of a unit: there, % and $ are special, and blanks separate. */
const quotedForUnit = (word: string) => {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"'\\]/.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
};

/**
 * The unit. In: the program; folders it writes to besides its own; seconds from SIGTERM until systemd kills it.
 * The rights are those that Node and the embedded PostgreSQL need: MemoryDenyWriteExecute would stop Node's compiler, and
 * PrivateIPC would hide from commands that a PostgreSQL runs on the data folder.
 */
export function unitOf(
  { node, main }: Program,
  { writes, stopSeconds }: { writes: readonly string[]; stopSeconds: number },
): string {
  const paths = writes.length > 0 ? `ReadWritePaths=${writes.map(quotedForUnit).join(' ')}\n` : '';
  return `# Written by payhook service install. Your own changes: systemctl edit payhook
[Unit]
Description=Payhook
After=network-online.target postgresql.service
Wants=network-online.target

[Service]
Type=exec
User=${SERVICE.user}
Group=${SERVICE.user}
EnvironmentFile=${SERVICE.settings}
WorkingDirectory=${SERVICE.state}
ExecStart=${quotedForUnit(node)} ${quotedForUnit(main)} serve
Restart=on-failure
# systemd gives up after five starts within ten seconds
RestartSec=5
# wrong settings: another start would not help
RestartPreventExitStatus=2
# SIGTERM is for the server alone, which stops its PostgreSQL last
KillMode=mixed
# SHUTDOWN_DELAY_MS, up to 20 seconds to answer what is in progress, and some to spare
TimeoutStopSec=${stopSeconds}

StateDirectory=payhook
StateDirectoryMode=0700
${paths}UMask=0077
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
NoNewPrivileges=yes
CapabilityBoundingSet=
LockPersonality=yes
RemoveIPC=no
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}
