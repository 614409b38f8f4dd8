import { type FormEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react';
import type { Input, OperationId } from '../data/api.ts';
import { useWrite } from '../data/queries.ts';
import { common } from '../texts/common.ts';
import { Button, IconButton } from './button.tsx';
import { Problem } from './feedback.tsx';
import { toast } from './toast.tsx';

interface OverlayProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Next to the title. */
  readonly actions?: ReactNode;
  readonly onClose: () => void;
}

/** The native dialog: it traps the focus, closes with Esc, and restores the focus. */
function Overlay({
  kind,
  title,
  actions,
  children,
  onClose,
  isLight,
}: OverlayProps & { kind: 'dialog' | 'drawer'; isLight: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  // React supports neither event of a dialog
  useEffect(() => {
    const dialog = ref.current;
    const cancel = (event: Event) => {
      event.preventDefault();
      onClose();
    };
    const press = (event: MouseEvent) => {
      if (isLight && event.target === dialog) onClose();
    };
    dialog?.addEventListener('cancel', cancel);
    dialog?.addEventListener('mousedown', press);
    return () => {
      dialog?.removeEventListener('cancel', cancel);
      dialog?.removeEventListener('mousedown', press);
    };
  }, [onClose, isLight]);
  return (
    <dialog ref={ref} className={kind} aria-labelledby={id}>
      <div className="overlay">
        <header>
          <h2 id={id}>{title}</h2>
          {actions}
          <IconButton icon="cross" label={common.close} onPress={onClose} />
        </header>
        <div className="overlay-body">{children}</div>
      </div>
    </dialog>
  );
}

/** The details of a row, at the side; the list stays in place. */
export function Drawer(props: OverlayProps) {
  return <Overlay kind="drawer" isLight {...props} />;
}

/** A question or form that must be answered first. */
export function Dialog(props: OverlayProps) {
  return <Overlay kind="dialog" isLight={false} {...props} />;
}

interface ConfirmProps extends OverlayProps {
  /** The action, with its name and numbers: never `Yes`. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  readonly isDisabled?: boolean;
  /** Why it failed. */
  readonly error?: Error | null;
  readonly onConfirm: () => void;
}

/** A dialog that says what will happen, with a button to confirm. */
export function Confirm({
  action,
  isDangerous,
  isBusy,
  isDisabled,
  error,
  onConfirm,
  children,
  ...rest
}: ConfirmProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) onConfirm();
  };
  return (
    <Dialog {...rest}>
      <form onSubmit={submit}>
        {children}
        {error && <Problem error={error} />}
        <div className="buttons">
          <Button onPress={rest.onClose}>{common.cancel}</Button>
          <Button
            type="submit"
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            isDisabled={isDisabled}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Confirms one destructive write: runs it, shows a toast, and closes. */
export function ConfirmEnd<Id extends OperationId>({
  operation,
  input,
  done,
  onDone,
  ...rest
}: Omit<ConfirmProps, 'isBusy' | 'isDangerous' | 'error' | 'onConfirm'> & {
  operation: Id;
  input: Input<Id>;
  /** The text of the toast. */
  done: string;
  /** Called instead of `onClose` after the write. */
  onDone?: () => void;
}) {
  const { mutate, isPending, error } = useWrite(operation);
  const end = () => {
    toast(done);
    (onDone ?? rest.onClose)();
  };
  return (
    <Confirm
      {...rest}
      isDangerous
      isBusy={isPending}
      error={error}
      onConfirm={() => mutate(input, { onSuccess: end })}
    />
  );
}
