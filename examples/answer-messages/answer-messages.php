<?php
// Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL.

declare(strict_types=1);

// Until the work is done: what is not answered with 2xx is delivered again.
http_response_code(502);
$body = (string) file_get_contents('php://input');
if (!is_signed($body)) {
    http_response_code(401);
} elseif (answer(json_decode($body, true, 64, JSON_THROW_ON_ERROR))) {
    http_response_code(204);
}

/** Checks the headers of https://www.standardwebhooks.com over the bytes as they were received. */
function is_signed(string $body): bool
{
    $sentAt = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    $content = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$sentAt.$body";
    $secret = base64_decode(substr(getenv('WEBHOOK_SECRET'), strlen('whsec_')));
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $content, $secret, true));
    $isOurs = fn(string $signature): bool => hash_equals($expected, $signature);
    $ours = array_filter(explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? ''), $isOurs);
    return $ours !== [] && abs(time() - (int) $sentAt) < 300;
}

/** Whether the event needs no answer or the gateway has accepted it. */
function answer(array $event): bool
{
    $message = $event['data']['message'] ?? null;
    if ($event['type'] !== 'message.received' || !isset($message['number'], $message['message'])) {
        return true;
    }
    $asksForPrice = stripos($message['message'], 'price') !== false;
    $reply = json_encode([
        'sender' => $message['sender'],
        'number' => $message['number'],
        'message' => $asksForPrice ? 'The price is 12.50 EUR.' : 'Thank you for your message.',
        'reply_to' => $message['message_id'],
    ]);
    $headers = [
        'content-type: application/json',
        'x-api-key: ' . getenv('WAGATE_KEY'),
        // An event may be delivered more than once. The gateway sends once under a key.
        "idempotency-key: answer-{$event['event_id']}",
    ];
    $http = ['method' => 'POST', 'header' => $headers, 'content' => $reply, 'timeout' => 10];
    $url = (getenv('WAGATE_URL') ?: 'http://127.0.0.1:3000') . '/send-message';
    return file_get_contents($url, false, stream_context_create(['http' => $http])) !== false;
}
