import { type ReactNode, useEffect, useRef } from 'react';
import { common } from '../texts/common.ts';
import { Skeleton } from './feedback.tsx';
import { Icon } from './icon.tsx';
import { useIsSettled } from './settled.ts';

/** A screen with its title, actions and content. The title is also that of the browser tab. */
export function Page({
  title,
  name = title,
  lead,
  status,
  actions,
  above,
  children,
}: {
  title: ReactNode;
  /** The title as plain text, if `title` is more than that. */
  name?: string | ReactNode;
  lead?: ReactNode;
  /** Next to the title. */
  status?: ReactNode;
  actions?: ReactNode;
  /** Above the title: the link back. */
  above?: ReactNode;
  children: ReactNode;
}) {
  const isSettled = useIsSettled();
  const tab = typeof name === 'string' ? name : '';
  useEffect(() => {
    document.title = tab === '' ? common.product : `${tab} · ${common.product}`;
  }, [tab]);
  return (
    <>
      {above && <div className="above">{above}</div>}
      <div className="page-head">
        <div>
          <div className="page-title">
            <h1>{title}</h1>
            {status}
          </div>
          {lead && <p className="soft">{lead}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      <div className="page-body" aria-busy={!isSettled}>
        {!isSettled && <Skeleton lines={6} />}
        {children}
      </div>
    </>
  );
}

/** A section of a screen with a border. */
export function Card({
  title,
  actions,
  children,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="card">
      {title && (
        <header>
          <h2>{title}</h2>
          {actions && <div className="card-actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** Names and values. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The views of a record: links, so that each has a URL. `children` are those links. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  const bar = useRef<HTMLElement>(null);
  const shown = useRef<Element>(null);
  // scrolls to the current view if they do not all fit
  useEffect(() => {
    const current = bar.current?.querySelector<HTMLElement>('.active') ?? null;
    if (bar.current === null || current === null || current === shown.current) return;
    shown.current = current;
    bar.current.scrollLeft = current.offsetLeft - (bar.current.clientWidth - current.offsetWidth) / 2;
  });
  return (
    <nav className="tabs" aria-label={label} ref={bar}>
      {children}
    </nav>
  );
}

export interface Step {
  readonly title: string;
  readonly state: 'done' | 'current' | 'ahead';
  /** The URL of the step; put `className` and `aria-current` on the link. */
  readonly link: (inside: ReactNode, props: { className: string; 'aria-current'?: 'step' }) => ReactNode;
}

/** The steps of a process, from first to last. */
export function Steps({ label, steps }: { label: string; steps: readonly Step[] }) {
  return (
    <nav aria-label={label}>
      <ol className="steps">
        {steps.map(({ title, state, link }, index) => (
          <li key={title}>
            {link(
              <>
                <span className="step-sign">{state === 'done' ? <Icon name="check" /> : index + 1}</span>
                {title}
              </>,
              {
                className: `step ${state}`,
                ...(state === 'current' ? { 'aria-current': 'step' as const } : {}),
              },
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
