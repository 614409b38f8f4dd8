import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { common } from '../texts/common.ts';
import { currencyOptions, Field, type Option } from './field.tsx';

const names = new Intl.DisplayNames('en', { type: 'currency' });

/** All currencies with their names, the likely ones first. */
const namedCurrencies = (likely: readonly string[]): Option<string>[] =>
  currencyOptions(likely).map(({ value, label }) => ({ value, label: `${label} – ${names.of(label)}` }));

/** Those options whose code or name contains the typed text. */
function matching(options: readonly Option<string>[], typed: string): readonly Option<string>[] {
  const text = typed.trim().toLowerCase();
  return options.filter(({ label }) => label.toLowerCase().includes(text));
}

/** The option that a typed text means when the field is left: its code, or the only one that matches. */
function meant(shown: readonly Option<string>[], typed: string): Option<string> | undefined {
  const text = typed.trim().toLowerCase();
  if (text === '') return undefined;
  return shown.find(({ value }) => value === text) ?? (shown.length === 1 ? shown[0] : undefined);
}

/** The space between the field and its list, and between the list and the edge of the window; the list's height. In pixels. */
const GAP = 4;
const MOST_HEIGHT = 256;

/** Puts the open list below its field, or above it where there is more room. A dialog would cut off a list inside it. */
function usePlace(root: RefObject<HTMLElement | null>, isOpen: boolean): void {
  useLayoutEffect(() => {
    const list = root.current?.querySelector<HTMLElement>('[role=listbox]');
    if (!isOpen || !list) return;
    const place = () => {
      const field = root.current?.getBoundingClientRect();
      if (field === undefined) return;
      const [below, above] = [window.innerHeight - field.bottom, field.top].map((room) => room - 2 * GAP) as [
        number,
        number,
      ];
      const isAbove = below < MOST_HEIGHT && above > below;
      list.style.maxHeight = `${Math.min(MOST_HEIGHT, isAbove ? above : below)}px`;
      list.style.width = `${field.width}px`;
      list.style.left = `${Math.min(field.left, window.innerWidth - list.offsetWidth - GAP)}px`;
      list.style.top = isAbove ? 'auto' : `${field.bottom + GAP}px`;
      list.style.bottom = isAbove ? `${window.innerHeight - field.top + GAP}px` : 'auto';
    };
    place();
    window.addEventListener('resize', place);
    window.addEventListener('scroll', place, true);
    return () => {
      window.removeEventListener('resize', place);
      window.removeEventListener('scroll', place, true);
    };
  }, [root, isOpen]);
}

/**
 * A currency, chosen from a list that is searched by code and name. The likely ones come first; with `any`, none is a choice too, which
 * is the value `''`.
 */
export function CurrencyField({
  label,
  hint,
  value,
  likely,
  any,
  onChange,
}: {
  label: string;
  hint?: string;
  /** In lower case. */
  value: string;
  likely: readonly string[];
  any?: string;
  onChange: (currency: string) => void;
}) {
  const list = useId();
  const root = useRef<HTMLDivElement>(null);
  // what is typed while the list is open
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const options = [...(any === undefined ? [] : [{ value: '', label: any }]), ...namedCurrencies(likely)];
  const shown = typed === null ? [] : matching(options, typed);
  const isOpen = typed !== null;
  usePlace(root, isOpen);
  useEffect(() => {
    if (isOpen) root.current?.querySelector(`[id="${list}-${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [isOpen, at, list]);
  const search = (text: string) => {
    setTyped(text);
    setAt(0);
  };
  /** Opens the whole list at the chosen option. */
  const open = () => {
    setTyped('');
    setAt(
      Math.max(
        0,
        options.findIndex((option) => option.value === value),
      ),
    );
  };
  const choose = (option: Option<string> | undefined) => {
    if (option) onChange(option.value);
    setTyped(null);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && isOpen) setAt((at + step + shown.length) % Math.max(1, shown.length));
    else if (step !== undefined) open();
    else if (isOpen && event.key === 'Enter') choose(shown[at]);
    else if (isOpen && event.key === 'Escape') setTyped(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Field label={label} hint={hint}>
      {(wired) => (
        <div className="combobox" ref={root}>
          <input
            {...wired}
            className="input"
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={list}
            aria-activedescendant={shown[at] && `${list}-${at}`}
            autoComplete="off"
            spellCheck={false}
            value={typed ?? options.find((option) => option.value === value)?.label ?? value.toUpperCase()}
            onFocus={(event) => event.currentTarget.select()}
            onClick={() => !isOpen && open()}
            onChange={(event) => search(event.currentTarget.value)}
            onKeyDown={press}
            onBlur={() => choose(meant(shown, typed ?? ''))}
          />
          {isOpen && (
            <div className="combobox-list" role="listbox" id={list} aria-label={label}>
              {shown.map((option, index) => (
                <div
                  key={option.value}
                  id={`${list}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === at}
                  className="menu-item"
                  // the input keeps the focus
                  onPointerDown={(event) => event.preventDefault()}
                  onClick={() => choose(option)}
                  onKeyDown={press}
                >
                  {option.label}
                </div>
              ))}
              {shown.length === 0 && <p className="hint">{common.noCurrency}</p>}
            </div>
          )}
        </div>
      )}
    </Field>
  );
}
