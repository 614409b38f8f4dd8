import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children: ReactNode;
  /** At most one primary action per screen; `danger` for what cannot be undone. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet' | undefined;
  readonly icon?: IconName | undefined;
  /** In progress: the button is disabled and says so. */
  readonly isBusy?: boolean | undefined;
  readonly isDisabled?: boolean | undefined;
  /** Why it is disabled, or other helpful information. */
  readonly title?: string | undefined;
  /** For a button that shows and hides something. */
  readonly isExpanded?: boolean | undefined;
  /** For one of several choices: whether it is the chosen one. */
  readonly isPressed?: boolean | undefined;
  readonly type?: 'button' | 'submit' | undefined;
  readonly onPress?: (() => void) | undefined;
}

/** A button that says what will happen. */
export function Button(props: ButtonProps) {
  const {
    children,
    kind = 'plain',
    icon,
    isBusy = false,
    isDisabled = false,
    title,
    isExpanded,
    isPressed,
    type = 'button',
    onPress,
  } = props;
  return (
    <button
      type={type}
      className={`button ${kind}`}
      disabled={isDisabled}
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      aria-expanded={isExpanded}
      aria-pressed={isPressed}
      title={title}
      onClick={(event) => {
        if (isBusy) event.preventDefault();
        else onPress?.();
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with only an icon; `label` is its accessible name. */
export function IconButton({
  icon,
  label,
  onPress,
  isDisabled = false,
}: {
  icon: IconName;
  label: string;
  onPress: () => void;
  isDisabled?: boolean;
}) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      disabled={isDisabled}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
