/**
 * URI templates of resources: the simple expansion of RFC 6570, `{name}`. Pure.
 *
 * Templates come from tenants and URIs from clients, so the match takes linear time and never tries again.
 */

/** A literal, then the variable after it; null at the end. */
interface Part {
  readonly literal: string
  readonly variable: string | null
}

/** Maximum variables of a template. */
export const variablesMax = 16

const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Returns the names of the variables, or null if the text is not a template. */
export const readVariables = (template: string): ReadonlyArray<string> | null => {
  const parts = parse(template)
  const names = parts?.flatMap(({ variable }) => (variable === null ? [] : [variable])) ?? []
  const isValid =
    parts !== null &&
    names.length <= variablesMax &&
    new Set(names).size === names.length &&
    // Without text between two variables, a URI would have several matches.
    parts.every(({ literal }, index) => literal !== "" || (index > 0 && index === parts.length - 1))
  return isValid ? names : null
}

const parse = (template: string): ReadonlyArray<Part> | null => {
  const [first = "", ...rest] = template.split("{")
  if (first.includes("}")) return null
  const parts: Array<Part> = []
  let literal = first
  for (const text of rest) {
    const [variable = "", following, ...more] = text.split("}")
    if (following === undefined || more.length > 0 || !variableName.test(variable)) return null
    parts.push({ literal, variable })
    literal = following
  }
  return [...parts, { literal, variable: null }]
}

/**
 * Returns the values of the variables, percent-decoded, or null if the URI does not match. A variable has at least one
 * character, no `/`, and ends before the first occurrence of the next literal.
 */
export const matchUri = (template: string, uri: string): Readonly<Record<string, string>> | null => {
  const parts = parse(template)
  if (parts === null) return null
  const values: Array<readonly [string, string]> = []
  let at = 0
  for (const [index, { literal, variable }] of parts.entries()) {
    if (!uri.startsWith(literal, at)) return null
    at += literal.length
    if (variable === null) return at === uri.length ? Object.fromEntries(values) : null
    const next = parts[index + 1]?.literal ?? ""
    const end = next === "" ? uri.length : uri.indexOf(next, at + 1)
    if (end <= at) return null
    const value = decode(uri.slice(at, end))
    if (value === null) return null
    values.push([variable, value])
    at = end
  }
  return null
}

const decode = (text: string): string | null => {
  if (text.includes("/")) return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
