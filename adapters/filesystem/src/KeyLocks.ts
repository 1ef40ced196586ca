/** One change at a time for each name; changes of different names do not wait for each other. */

export interface KeyLocks {
  /** Runs when all that was asked for under this name before has ended, however it ended. */
  readonly holding: <A>(name: string, run: () => Promise<A>) => Promise<A>
}

export const makeKeyLocks = (): KeyLocks => {
  const last = new Map<string, Promise<unknown>>()
  return {
    holding: async (name, run) => {
      const result = (last.get(name) ?? Promise.resolve()).then(run)
      const ended = result.catch(() => undefined)
      last.set(name, ended)
      try {
        return await result
      } finally {
        if (last.get(name) === ended) last.delete(name)
      }
    }
  }
}
