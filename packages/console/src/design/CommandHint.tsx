/** The command that does the same as an action of the page. */
import type { JSX } from "solid-js"
import { t } from "../text/Language.ts"
import { CopyButton } from "./CopyButton.tsx"

export const CommandHint = (props: { readonly command: string }): JSX.Element => (
  <div class="command">
    <span>{t().common.command}</span>
    <code>{props.command}</code>
    <CopyButton text={props.command} label={t().common.command} />
  </div>
)

/** Returns the text as one word of a shell command. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
