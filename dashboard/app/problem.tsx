import type { ErrorComponentProps } from '@tanstack/react-router';
import { Problem } from '../parts/feedback.tsx';

/** A screen that could not be shown. */
export function ScreenProblem({ error, reset }: ErrorComponentProps) {
  return <Problem error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
