/** Copies a text. The clipboard needs HTTPS or the loopback. */
import { createSignal, type JSX } from "solid-js"
import { t } from "../text/Language.ts"
import { Icon } from "./Icon.tsx"

export const copyText = (text: string): Promise<void> => navigator.clipboard.writeText(text)

export const CopyButton = (props: { readonly text: string; readonly label: string }): JSX.Element => {
  const [isCopied, setCopied] = createSignal(false)
  const copy = async () => {
    await copyText(props.text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  const label = () => (isCopied() ? t().common.copied : `${t().common.copy}: ${props.label}`)
  return (
    <button type="button" class="button quiet icon" title={label()} aria-label={label()} onClick={() => void copy()}>
      <Icon name={isCopied() ? "check" : "copy"} />
    </button>
  )
}
