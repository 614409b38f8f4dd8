const PATHS = {
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  payouts: 'M1.5 4h13v8h-13zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6M4 8h.01M12 8h.01',
  affiliates:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.5M12 9.8c1.6.5 2.5 1.9 2.5 3.7',
  commissions:
    'M12.5 3.5l-9 9M4.8 6.3a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M11.2 12.7a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3',
  import: 'M8 10.5v-8M5 5.3l3-3 3 3M2.5 10.5v3h11v-3',
  webhooks:
    'M8 6.5a2.3 2.3 0 1 0-2-1.2L3.7 9.4M10 5.3l2.3 4.1M6.2 11.5h4M3.5 13.7a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4M12.5 13.7a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4',
  events: 'M9 1.5 3 9h4.5L7 14.5 13 7H8.5z',
  settings:
    'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3M5.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.7 10.7l3.3 3.3',
  copy: 'M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  cross: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  up: 'M3.5 10 8 5.5l4.5 4.5',
  dots: 'M3 8h.01M8 8h.01M13 8h.01',
  download: 'M8 2.5v8M5 7.7l3 3 3-3M2.5 13.5h11',
  print: 'M4.5 5.5v-4h7v4M4.5 11.5h-3v-6h13v6h-3M4.5 9.5h7v5h-7z',
  edit: 'M2.5 13.5l.8-3.3 7.8-7.8 2.5 2.5-7.8 7.8zM9.5 4l2.5 2.5',
  trash: 'M2.5 4h11M6 4V2h4v2M4 4l.7 10h6.6L12 4',
  plus: 'M8 3v10M3 8h10',
  alert: 'M8 2 1.5 13.5h13zM8 6.5v3.2M8 11.7h.01',
  info: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M8 7.3v4M8 4.9h.01',
  clock: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M8 4.5V8l2.3 1.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  menu: 'M2 4h12M2 8h12M2 12h12',
  file: 'M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3',
  external: 'M6.5 3.5h-4v10h10v-4M9.5 2.5h4v4M13.5 2.5 7.5 8.5',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9L13.5 6M13.5 2.5V6H10',
} as const;

export type IconName = keyof typeof PATHS;

/** A 16-pixel icon in the text colour; it always has text next to it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The logo. */
export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 28 28" aria-hidden="true">
      <rect className="mark" width="28" height="28" rx="8" />
      <path className="stroke" d="M10 20.5V7.5h4.6a4.1 4.1 0 0 1 0 8.2h-1.1" />
      <path className="stroke" d="m15.6 13-2.7 2.7 2.7 2.7" />
    </svg>
  );
}
