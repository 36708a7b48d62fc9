<?php
// Reads HTML and writes what Roundcube would put into its page.
//
//   roundcube.php FOLDER PICTURES < HTML
//
// FOLDER has the contents of Debian's roundcube-core and php-masterminds-html5, PICTURES is a JSON object of
// addresses by the cid: addresses that they stand for.

error_reporting(E_ALL & ~E_DEPRECATED);
[, $folder, $pictures] = $argv;
$places = ["$folder/usr/share/roundcube/program/lib/Roundcube/", "$folder/usr/share/php/"];
spl_autoload_register(function ($class) use ($places) {
    foreach ($places as $place) {
        $file = $place . str_replace('\\', '/', $class) . '.php';
        if (file_exists($file)) {
            require_once $file;
            return;
        }
    }
});
define('RCUBE_CHARSET', 'UTF-8');
$washer = new rcube_washtml([
    'allow_remote' => false,
    'show_washed' => false,
    'charset' => RCUBE_CHARSET,
    'cid_map' => json_decode($pictures, true),
    'css_prefix' => 'v1',
    'html_elements' => ['body'],
]);
echo $washer->wash(stream_get_contents(STDIN));
