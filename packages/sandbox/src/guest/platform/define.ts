/**
 * Defines globals, and gives classes the look of platform classes.
 *
 * Names are set explicitly, because the bundle is minified and guests print `constructor.name`.
 */

/** Marks prototypes of platform classes: their instances are not plain data to `structuredClone`. */
const platformObject: unique symbol = Symbol("platform object")

/** Key of the method with which an object formats itself for `console`; the same as in Node. */
export const inspectCustom: unique symbol = Symbol.for("nodejs.util.inspect.custom")

type Constructor = { readonly prototype: object }

const setName = (value: object, name: string): void => {
  Object.defineProperty(value, "name", { value: name, configurable: true })
}

/** Key of the method that moves a platform object to a new one, for `structuredClone` and `postMessage`. */
export const transfer: unique symbol = Symbol("transfer")

/** Throws a `TypeError` if a function was called with too few arguments. */
export const requireArguments = (given: ArrayLike<unknown>, required: number, name: string): void => {
  if (given.length < required) {
    const noun = required === 1 ? "argument" : "arguments"
    throw new TypeError(`${name}: at least ${required} ${noun} required, but only ${given.length} passed`)
  }
}

const asyncPrototype: object = Object.getPrototypeOf(async () => undefined)

/** Throws a `TypeError` for options that are neither an object nor missing. */
export const requireOptions = (options: unknown, name: string): void => {
  if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function") {
    throw new TypeError(`${name}: the options must be an object (got ${String(options)})`)
  }
}

/**
 * Returns a method that requires the arguments that `method.length` counts: those before the first optional one. Methods
 * that return promises reject instead of throwing, also for a wrong `this`.
 */
export const checked = (name: string, method: (...args: ReadonlyArray<unknown>) => unknown): unknown => {
  const { length } = method
  if (length === 0) {
    return method
  }
  const isAsync = Object.getPrototypeOf(method) === asyncPrototype
  const wrapper = {
    method(...args: ReadonlyArray<unknown>): unknown {
      if (args.length < length) {
        if (isAsync) {
          return Promise.resolve().then(() => requireArguments(args, length, name))
        }
        requireArguments(args, length, name)
      }
      return Reflect.apply(method, this, args)
    }
  }.method
  Object.defineProperty(wrapper, "name", { value: name, configurable: true })
  Object.defineProperty(wrapper, "length", { value: length, configurable: true })
  return wrapper
}

/** Gives the members of a class or prototype the attributes that Web IDL requires, and checks their arguments. */
const shapeMembers = (holder: object, hidden: ReadonlyArray<string>, isChecked: boolean): void => {
  for (const key of Object.getOwnPropertyNames(holder)) {
    const own = Object.getOwnPropertyDescriptor(holder, key)
    if (own === undefined || hidden.includes(key) || own.configurable !== true) {
      continue
    }
    const value = isChecked && typeof own.value === "function" ? { value: checked(key, own.value) } : {}
    Object.defineProperty(holder, key, { ...own, ...value, enumerable: true })
  }
}

/**
 * Gives platform classes their public names, the shape of Web IDL, and `Symbol.toStringTag`. A library may check its
 * arguments itself.
 */
export const brand = (classes: Readonly<Record<string, Constructor>>, isChecked: boolean = true): void => {
  for (const [name, constructor] of Object.entries(classes)) {
    setName(constructor, name)
    shapeMembers(constructor, ["prototype", "name", "length"], isChecked)
    shapeMembers(constructor.prototype, ["constructor"], isChecked)
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true })
    Object.defineProperty(constructor.prototype, platformObject, { value: true })
  }
}

export const isPlatformObject = (value: object): boolean => platformObject in value

/** Defines constants of a class that scripts cannot change, such as `Event.NONE`. */
export const defineConstants = (target: object, constants: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(constants)) {
    Object.defineProperty(target, name, { value, enumerable: true })
  }
}

export const defineValue = (target: object, name: string, value: unknown, enumerable: boolean = false): void => {
  if (typeof value === "function" && value.name !== name) {
    setName(value, name)
  }
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable })
}

/** Defines a global that is created at its first use, so that unused ones cost nothing. */
export const defineLazy = (target: object, name: string, make: () => unknown, enumerable: boolean = false): void => {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable,
    get: () => {
      const value = make()
      defineValue(target, name, value, enumerable)
      return value
    },
    set: (value: unknown) => {
      Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true })
    }
  })
}
