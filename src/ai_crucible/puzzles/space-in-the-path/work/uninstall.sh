#!/bin/sh
ROOT=$1
rm -rf $ROOT/usr /lib/nvidia current/xorg
