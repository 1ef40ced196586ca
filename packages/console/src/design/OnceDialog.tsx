/** A dialog with a secret that the page shows only once. */
import { Dialog } from "@kobalte/core/dialog"
import { type JSX, Show } from "solid-js"
import { t } from "../text/Language.ts"
import { CopyButton } from "./CopyButton.tsx"

export const OnceDialog = (props: {
  /** Null while the dialog is closed. */
  readonly secret: string | null
  readonly title: string
  readonly text: string
  readonly onClose: () => void
  /** Shown above the secret. */
  readonly children?: JSX.Element
}): JSX.Element => (
  <Dialog open={props.secret !== null} onOpenChange={(isOpen) => isOpen || props.onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay class="overlay" />
      <div class="dialog-place">
        <Dialog.Content class="dialog">
          <Dialog.Title>{props.title}</Dialog.Title>
          <Dialog.Description class="muted">{props.text}</Dialog.Description>
          {props.children}
          <Show when={props.secret}>
            {(secret) => (
              <p class="with-copy">
                <code class="token">{secret()}</code>
                <CopyButton text={secret()} label={props.title} />
              </p>
            )}
          </Show>
          <div class="dialog-actions">
            <button type="button" class="button primary" onClick={props.onClose}>
              {t().access.done}
            </button>
          </div>
        </Dialog.Content>
      </div>
    </Dialog.Portal>
  </Dialog>
)
