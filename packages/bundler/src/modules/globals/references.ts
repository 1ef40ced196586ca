/**
 * The globals `WeakRef` and `FinalizationRegistry`. Isolates have no finalizers, so references are strong: the memory of
 * their targets is released with the isolate.
 */
class StrongRef<T> {
  readonly #target: T

  constructor(target: T) {
    this.#target = target
  }

  deref(): T {
    return this.#target
  }
}

class NoRegistry {
  register(): void {}
  unregister(): boolean {
    return false
  }
}

export { NoRegistry as FinalizationRegistry, StrongRef as WeakRef }
