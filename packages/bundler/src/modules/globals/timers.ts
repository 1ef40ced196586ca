/** The globals `setImmediate` and `clearImmediate`. */
export const setImmediate = (callback: (...given: ReadonlyArray<unknown>) => void, ...given: ReadonlyArray<unknown>) =>
  setTimeout(() => callback(...given), 0)
export const clearImmediate = (immediate: ReturnType<typeof setTimeout>): void => clearTimeout(immediate)
