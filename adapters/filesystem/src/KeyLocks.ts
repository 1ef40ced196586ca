/** A lock per name: changes of one name run one after the other, those of different names in parallel. */

export interface KeyLocks {
  /** Runs after all earlier changes of this name have ended, whether they succeeded or not. */
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
