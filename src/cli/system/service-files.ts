/** The user and the paths of the service. */
export const SERVICE = {
  user: 'payhook',
  unit: '/etc/systemd/system/payhook.service',
  settings: '/etc/payhook.env',
  /** The script with the commands for root. In root's PATH it precedes /usr/local/bin, where npm links the program itself. */
  script: '/usr/local/sbin/payhook',
  state: '/var/lib/payhook',
} as const;

/** The program that systemd and the script start. */
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

/** The first lines of the script, which identify it among files of the same name. */
export const SCRIPT_HEAD = '#!/bin/sh\n# Written by payhook service install.';

/**
 * A script that runs commands as the user of the service and with its settings. Commands without settings run as the
 * caller: `service` needs root.
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

/** A word of a unit file, in which % and $ are special and spaces separate words. */
const quotedForUnit = (word: string) => {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"'\\]/.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : text;
};

/**
 * The unit. `writes` are folders it writes to in addition to its own; `stopSeconds` the time from SIGTERM until systemd
 * kills it. Node and the embedded PostgreSQL need the remaining rights: MemoryDenyWriteExecute would break Node's compiler,
 * and PrivateIPC would hide the running PostgreSQL of the data folder from commands.
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
