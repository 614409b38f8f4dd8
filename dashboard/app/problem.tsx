import type { ErrorComponentProps } from '@tanstack/react-router';
import { Problem } from '../parts/feedback.tsx';

/** Shown when a screen could not be rendered. */
export function ScreenProblem({ error, reset }: ErrorComponentProps) {
  return <Problem error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />;
}
