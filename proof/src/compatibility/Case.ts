/** A piece of real work of an npm package, with its expected result. */

export interface Case {
  /** Name of the package; several cases of one package have a suffix in parentheses. */
  readonly name: string
  /** A module with an async function `main`, whose result becomes JSON. */
  readonly code: string
  readonly expected: unknown
  /** Packages to install; by default the one with the name of the case. */
  readonly packages?: ReadonlyArray<string>
  /** Response of the upstream server. By default it is a description of the request. */
  readonly reply?: Reply
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or text. */
  readonly body: unknown
}

export interface Area {
  readonly name: string
  readonly cases: ReadonlyArray<Case>
}

/** Returns the packages that a case installs. */
export const packagesOf = ({ name, packages }: Case): ReadonlyArray<string> => packages ?? [name.replace(/ \(.*$/, "")]
