import { element } from '../shared/view.js'

/** As in "Send your first message" of README.md. On the live network, there is no `simulatorUrl`. */
export function showFirstCommands(apiKey, { simulatorUrl }) {
  const gateway = location.origin
  const texts = simulatorUrl ? simulated(gateway, simulatorUrl) : live(gateway)
  element('link-text').textContent = texts.linkText
  element('link-command').textContent = `KEY=${apiKey}\n${texts.link}`
  element('scan-text').textContent = texts.scanText
  element('scan-command').textContent = texts.scan
  element('send-command').textContent = texts.send
}

const sendCommand = (gateway, fields) =>
  `curl -s ${gateway}/send-message -H "x-api-key: $KEY" -H 'content-type: application/json' -d '${fields}'`

const simulated = (gateway, simulatorUrl) => ({
  linkText: 'Ask for the QR code that links a sender:',
  link: `QR=$(curl -s -H "x-api-key: $KEY" '${gateway}/generate-qr?sender=15550100001' | sed 's/.*"qr_text":"\\([^"]*\\)".*/\\1/')`,
  scanText: 'Let a phone of the simulated network scan it:',
  scan: `curl -s ${simulatorUrl}/scan -H 'content-type: application/json' -d '{"number":"15550100001","qr":"'"$QR"'"}'`,
  send: sendCommand(
    gateway,
    '{"sender":"15550100001","number":"15550100002","message":"Hello from wagate","wait":10}',
  ),
})

const live = (gateway) => ({
  linkText: 'Save the QR code that links a sender. Put the number of your phone into the second line:',
  link: `SENDER=15551234567\ncurl -s -H "x-api-key: $KEY" -H 'Accept: image/png' -o qr.png "${gateway}/generate-qr?sender=$SENDER"`,
  scanText:
    'Open the picture. On the phone, open WhatsApp, Settings, Linked devices, Link a device, and scan it within two minutes:',
  scan: 'open qr.png || xdg-open qr.png',
  send: sendCommand(
    gateway,
    `{"sender":"'$SENDER'","number":"15557654321","message":"Hello from wagate","wait":10}`,
  ),
})
