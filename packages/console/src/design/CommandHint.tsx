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
