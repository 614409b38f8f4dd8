/** A process at the other end of an IPC channel. */
interface Channel {
  send(message: object, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** Calls between a server's processes. Their values are JSON. */
export interface Calls {
  /** Calls the handler of this name there. Rejects if it fails, or if the other process is gone. */
  call<Answer>(name: string, input?: unknown): Promise<Answer>;
}

// biome-ignore lint/suspicious/noExplicitAny: each handler knows its input
type Handlers = Readonly<Record<string, (input: any) => unknown>>;

type Message =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly input?: unknown }
  | { readonly type: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: string };

/** Answers the calls of the process at the other end with `handlers`, and calls those there. */
export function openCalls(channel: Channel, handlers: Handlers): Calls {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  let isOver = false;

  // an error means that the other process is gone, which `disconnect` reports
  const send = (message: Message) => void channel.send(message, () => undefined);

  async function answer({ id, name, input }: Message & { type: 'call' }): Promise<void> {
    try {
      const handler = handlers[name];
      if (handler === undefined) throw new Error(`there is no ${name}`);
      const value = await handler(input);
      if (!isOver) send({ type: 'answer', id, value });
    } catch (error) {
      if (!isOver) send({ type: 'answer', id, error: String(error) });
    }
  }

  channel.on('message', (received) => {
    const message = received as Message;
    if (message.type === 'call') return void answer(message);
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) caller?.resolve(message.value);
    else caller?.reject(new Error(message.error));
  });
  channel.once('disconnect', () => {
    isOver = true;
    for (const { reject } of waiting.values()) reject(new Error('the other process is gone'));
    waiting.clear();
  });

  return {
    call<Answer>(name: string, input?: unknown) {
      return new Promise<Answer>((resolve, reject) => {
        if (isOver) return reject(new Error('the other process is gone'));
        last += 1;
        waiting.set(last, { resolve: (value) => resolve(value as Answer), reject });
        send({ type: 'call', id: last, name, input });
      });
    },
  };
}
