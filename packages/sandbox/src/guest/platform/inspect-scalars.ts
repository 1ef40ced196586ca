/** Formats values without entries, and the names of values with entries. */

/** Maximum characters shown of a string in an object. */
const stringMax = 10_000

const escapes: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "\\": "\\\\"
}

const escape = (character: string): string =>
  escapes[character] ?? `\\x${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`

/** Quotes a text in single quotes, or in others if that saves escapes. */
export const quote = (text: string): string => {
  const shown = text.length > stringMax ? text.slice(0, stringMax) : text
  const mark = !shown.includes("'") ? "'" : !shown.includes('"') ? '"' : !/[`$]/.test(shown) ? "`" : "'"
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it escapes control characters
  let body = shown.replace(/[\0-\x1f\x7f-\x9f\\]/g, escape).toWellFormed()
  if (mark === "'") {
    body = body.replace(/'/g, "\\'")
  }
  const left = text.length - shown.length
  return mark + body + mark + (left > 0 ? `... ${left} more character${left === 1 ? "" : "s"}` : "")
}

export const scalarText = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return quote(value)
    case "number":
      return Object.is(value, -0) ? "-0" : String(value)
    case "bigint":
      return `${value}n`
    default:
      return String(value)
  }
}

export const keyText = (key: string | symbol): string => {
  if (typeof key === "symbol") {
    return String(key)
  }
  return /^[a-zA-Z_$][\w$]*$/.test(key) ? key : quote(key)
}

const ownName = (value: unknown): string => {
  const name: unknown = typeof value === "function" ? Object.getOwnPropertyDescriptor(value, "name")?.value : ""
  return typeof name === "string" ? name : ""
}

/** Returns the class name of `value`, with its tag if that differs. */
export const nameOf = (value: object): string => {
  // An own tag is shown among the properties.
  const tag: unknown = Object.hasOwn(value, Symbol.toStringTag) ? "" : Reflect.get(value, Symbol.toStringTag)
  const name = className(value)
  return typeof tag === "string" && tag !== "" && tag !== name ? `${name} [${tag}]` : name
}

const className = (value: object): string => {
  let prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null) {
    return "[Object: null prototype]"
  }
  while (prototype !== null) {
    const name = ownName(Object.getOwnPropertyDescriptor(prototype, "constructor")?.value)
    if (name !== "") {
      return name
    }
    prototype = Object.getPrototypeOf(prototype)
  }
  return "Object"
}

/** Formats a function or class as "[Function: name]"; null for other values. */
export const functionLabel = (value: object): string | null => {
  if (typeof value !== "function") {
    return null
  }
  const name = ownName(value)
  if (Function.prototype.toString.call(value).startsWith("class")) {
    const parent = ownName(Object.getPrototypeOf(value))
    return `[class ${name === "" ? "(anonymous)" : name}${parent === "" ? "" : ` extends ${parent}`}]`
  }
  const kind = className(value)
  return `[${kind}${name === "" ? " (anonymous)" : `: ${name}`}]`
}
