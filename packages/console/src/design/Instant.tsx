/** An instant in the language and time zone of the person. The exact value is its title. */
import type { JSX } from "solid-js"
import { formatInstant } from "../text/format.ts"

export const Instant = (props: { readonly at: string }): JSX.Element => (
  <time datetime={props.at} title={props.at}>
    {formatInstant(props.at)}
  </time>
)
