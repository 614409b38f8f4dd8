import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  /** For a choice: whether it is the current one. */
  readonly isChosen?: boolean;
  readonly onPress: () => void;
}

/** A button with a list of actions: the arrow keys move through it, Esc closes it and restores the focus. */
export function Menu({
  label,
  children,
  groups,
  className,
}: {
  label: string;
  /** An icon or, with a class of its own, a text that names the button. */
  children: ReactNode;
  /** Groups are separated by lines and may have a title. */
  groups: readonly { readonly title?: string; readonly items: readonly MenuItem[] }[];
  className?: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    items()[0]?.focus();
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector('button')?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Escape') close();
    else if (to !== undefined) all[(to + all.length) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="menu" ref={root}>
      <button
        type="button"
        className={className ?? 'icon-button'}
        {...(className === undefined ? { 'aria-label': label, title: label } : {})}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div className="menu-list" role="menu" tabIndex={-1} aria-label={label} onKeyDown={move}>
          {groups
            .filter((group) => group.items.length > 0)
            .map((group) => (
              // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
              <div key={group.items[0]?.label} role="group" aria-label={group.title}>
                {group.title && <p className="menu-title">{group.title}</p>}
                {group.items.map((item) => (
                  <button
                    key={item.label}
                    type="button"
                    {...(item.isChosen === undefined
                      ? { role: 'menuitem' }
                      : { role: 'menuitemradio', 'aria-checked': item.isChosen })}
                    tabIndex={-1}
                    className={item.isDangerous ? 'menu-item danger' : 'menu-item'}
                    onClick={() => {
                      close();
                      item.onPress();
                    }}
                  >
                    <span className="menu-sign">
                      {item.isChosen ? <Icon name="check" /> : item.icon && <Icon name={item.icon} />}
                    </span>
                    {item.label}
                  </button>
                ))}
              </div>
            ))}
        </div>
      )}
    </div>
  );
}
