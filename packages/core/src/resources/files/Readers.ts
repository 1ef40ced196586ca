/** Keys whose bytes this node is reading, which its janitor must not remove. */
import { Context, Effect, Layer, type Scope } from "effect"

export class Readers extends Context.Service<
  Readers,
  {
    /** Counts a reader of the key until the scope closes. */
    readonly enter: (key: string) => Effect.Effect<void, never, Scope.Scope>
    readonly isRead: (key: string) => boolean
  }
>()("@weft/core/resources/files/Readers") {
  static readonly layer: Layer.Layer<Readers> = Layer.sync(Readers, () => {
    const counts = new Map<string, number>()
    const enter = (key: string) => {
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const exit = (key: string) => {
      const rest = (counts.get(key) ?? 0) - 1
      if (rest > 0) counts.set(key, rest)
      else counts.delete(key)
    }
    return Readers.of({
      enter: (key) =>
        Effect.acquireRelease(
          Effect.sync(() => enter(key)),
          () => Effect.sync(() => exit(key))
        ),
      isRead: (key) => counts.has(key)
    })
  })
}
